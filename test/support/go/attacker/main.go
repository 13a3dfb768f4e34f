// What an attacker can do with a program of its own: `trace PID...` attaches to processes as a debugger does and prints the
// answer of the kernel for each; `scan MILLISECONDS ADDRESS...` connects to all TCP ports of each address, waits so long for
// each, and prints those that are open, then how many it tried.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Most connections that are tried at once. Each waits for its whole time where packets are dropped, so their number makes the
// length of a scan.
const most = 16000

const last = 65535

// Descriptors that are left for the rest of the program.
const spare = 100

// What says that this machine could not try, and nothing about the port.
var starved = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EADDRNOTAVAIL}

func atOnce() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur < most+spare {
		return int(limit.Cur) - spare
	}
	return most
}

func attach(pid int) string {
	if err := syscall.PtraceAttach(pid); err != nil {
		return err.Error()
	}
	var status syscall.WaitStatus
	syscall.Wait4(pid, &status, 0, nil)
	syscall.PtraceDetach(pid)
	return "attached"
}

// The first line is about a child of its own: it shows that nothing else forbids ptrace here.
func trace(pids []string) {
	// Every request of a tracer has to come from the thread that attached.
	runtime.LockOSThread()
	hold, held, _ := os.Pipe()
	child, err := os.StartProcess("/proc/self/exe", []string{"attacker", "wait"}, &os.ProcAttr{Files: []*os.File{hold, nil, nil}})
	if err != nil {
		fmt.Println("child:", err)
	} else {
		fmt.Println("child:", attach(child.Pid))
		held.Close()
		child.Kill()
	}
	for _, word := range pids {
		pid, _ := strconv.Atoi(word)
		fmt.Println(word+":", attach(pid))
	}
}

func open(address string, port int, timeout time.Duration) bool {
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(address, strconv.Itoa(port)), timeout)
	if err != nil {
		for _, reason := range starved {
			if errors.Is(err, reason) {
				fmt.Fprintln(os.Stderr, "not tried:", err)
				os.Exit(1)
			}
		}
		return false
	}
	defer connection.Close()
	// On loopback a socket can meet itself, where its own port is the one that it tries.
	return connection.LocalAddr().String() != connection.RemoteAddr().String()
}

func scan(timeout time.Duration, addresses []string) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var lock sync.Mutex
	var done sync.WaitGroup
	room := make(chan struct{}, atOnce())
	for _, address := range addresses {
		for port := 1; port <= last; port++ {
			room <- struct{}{}
			done.Add(1)
			go func() {
				if open(address, port, timeout) {
					lock.Lock()
					fmt.Fprintln(out, net.JoinHostPort(address, strconv.Itoa(port)))
					lock.Unlock()
				}
				<-room
				done.Done()
			}()
		}
	}
	done.Wait()
	fmt.Fprintln(out, "scanned", last*len(addresses))
}

func main() {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "trace":
		trace(os.Args[2:])
	case len(os.Args) > 3 && os.Args[1] == "scan":
		milliseconds, _ := strconv.Atoi(os.Args[2])
		scan(time.Duration(milliseconds)*time.Millisecond, os.Args[3:])
	case len(os.Args) == 2 && os.Args[1] == "wait":
		os.Stdin.Read(make([]byte, 1))
	default:
		fmt.Fprintln(os.Stderr, "attacker trace PID... | scan MILLISECONDS ADDRESS...")
		os.Exit(2)
	}
}
