// A worker in Go: go build -o worker examples/work.go
// qless work thumbs --persistent --in-flight 20 -- ./worker
package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"
)

type job struct {
	Jid    string
	Cancel bool
	Data   map[string]any
}

func work(ctx context.Context, data map[string]any) map[string]any {
	seconds, _ := data["seconds"].(float64)
	select {
	case <-ctx.Done():
		// The job is cancelled. Its answer, whatever it is, makes room for another job.
		return map[string]any{"result": "retry"}
	case <-time.After(time.Duration(seconds * float64(time.Second))):
	}
	switch {
	case data["fail"] == true:
		return map[string]any{"result": "fail", "group": "picture", "message": "the file is broken"}
	case data["retry"] == true:
		return map[string]any{"result": "retry", "delay": "1s"}
	}
	data["by"] = "go"
	return map[string]any{"result": "complete", "data": data}
}

func main() {
	var lock sync.Mutex // Guards `running` and `answers`.
	running := map[string]context.CancelFunc{}
	answers := json.NewEncoder(os.NewFile(3, "answers"))
	var jobs sync.WaitGroup
	for lines := json.NewDecoder(os.Stdin); ; {
		var next job
		if lines.Decode(&next) != nil {
			break
		}
		lock.Lock()
		if cancel, found := running[next.Jid]; next.Cancel && found {
			cancel()
		}
		if next.Cancel {
			lock.Unlock()
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		running[next.Jid] = cancel
		lock.Unlock()
		jobs.Add(1)
		go func() {
			defer jobs.Done()
			answer := work(ctx, next.Data)
			lock.Lock()
			defer lock.Unlock()
			cancel()
			delete(running, next.Jid)
			answer["jid"] = next.Jid
			answers.Encode(answer)
		}()
	}
	jobs.Wait()
}
