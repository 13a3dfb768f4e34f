// Attaches to the given processes as a debugger does, and prints the answer of the kernel for each.
// The first line is about a child of its own: it shows that nothing else forbids ptrace here.
package main

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
)

func try(pid int) string {
	if err := syscall.PtraceAttach(pid); err != nil {
		return err.Error()
	}
	var status syscall.WaitStatus
	syscall.Wait4(pid, &status, 0, nil)
	syscall.PtraceDetach(pid)
	return "attached"
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "wait" {
		os.Stdin.Read(make([]byte, 1))
		return
	}
	// Every request of a tracer has to come from the thread that attached.
	runtime.LockOSThread()
	hold, held, _ := os.Pipe()
	child, err := os.StartProcess("/proc/self/exe", []string{"tracer", "wait"}, &os.ProcAttr{Files: []*os.File{hold, nil, nil}})
	if err != nil {
		os.Stdout.WriteString("child: " + err.Error() + "\n")
	} else {
		os.Stdout.WriteString("child: " + try(child.Pid) + "\n")
		held.Close()
		child.Kill()
	}
	for _, word := range os.Args[1:] {
		pid, _ := strconv.Atoi(word)
		os.Stdout.WriteString(word + ": " + try(pid) + "\n")
	}
}
