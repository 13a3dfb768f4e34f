// The smallest agent that can be: one static binary that speaks just enough of ACP to answer one prompt after the other.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
}

type object = map[string]any

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	answer := func(to request, result any) {
		out.Encode(object{"jsonrpc": "2.0", "id": to.ID, "result": result})
	}
	for lines.Scan() {
		var in request
		if json.Unmarshal(lines.Bytes(), &in) != nil || in.ID == nil {
			continue
		}
		switch in.Method {
		case "initialize":
			answer(in, object{"protocolVersion": 1, "agentCapabilities": object{}})
		case "session/new":
			answer(in, object{"sessionId": "only"})
		case "session/prompt":
			said := ""
			for _, part := range in.Params.Prompt {
				said = part.Text
			}
			chunk := object{"type": "text", "text": "the static agent heard: " + said}
			update := object{"sessionUpdate": "agent_message_chunk", "content": chunk}
			params := object{"sessionId": "only", "update": update}
			out.Encode(object{"jsonrpc": "2.0", "method": "session/update", "params": params})
			answer(in, object{"stopReason": "end_turn"})
		default:
			out.Encode(object{"jsonrpc": "2.0", "id": in.ID, "error": object{"code": -32601, "message": "not known"}})
		}
	}
}
