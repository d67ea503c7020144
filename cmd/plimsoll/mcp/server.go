// Package mcp serves tools to programs that speak the Model Context Protocol, over a pair of streams or HTTP. It owns
// the protocol; what a tool does is its caller's.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll/platform/worker/secret"
)

// Tool is what a client may call.
type Tool struct {
	Name, Title, Description string
	// Arguments is a JSON schema of an object. What it does not allow never reaches Call.
	Arguments map[string]any
	// ReadOnly says that a call changes neither a database nor what is stored.
	ReadOnly bool
	// Call ends early when ctx ends, and leaves nothing running. It may tell its progress from any goroutine.
	Call func(ctx context.Context, arguments map[string]any, tell func(Progress)) Answer
}

// Progress of a call.
type Progress struct {
	Text string
	Left time.Duration // 0: not known
}

// Answer of a call.
type Answer struct {
	Text   string          // for a person, what matters most first
	JSON   json.RawMessage // an object; nil: there is none
	Failed bool            // the call gave no answer: Text and JSON say why
}

// Server serves tools.
type Server struct {
	protocol *sdk.Server

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// New makes a server whose calls end with ctx. The instructions tell clients what it is for.
func New(ctx context.Context, version, instructions string, tools []Tool) *Server {
	s := &Server{protocol: sdk.NewServer(&sdk.Implementation{Name: "plimsoll", Title: "Plimsoll", Version: version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})}
	for _, t := range tools {
		s.add(ctx, t)
	}
	return s
}

var errClosing = errors.New("the server is closing")

func (s *Server) add(ctx context.Context, t Tool) {
	destructive, open := !t.ReadOnly, false
	sdk.AddTool(s.protocol, &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Arguments,
		Annotations: &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: t.ReadOnly, IdempotentHint: t.ReadOnly,
			DestructiveHint: &destructive, OpenWorldHint: &open},
	}, func(call context.Context, q *sdk.CallToolRequest, arguments map[string]any) (*sdk.CallToolResult, any, error) {
		if !s.enter() {
			return nil, nil, errClosing
		}
		defer s.calls.Done()
		call, stop := context.WithCancel(call)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		tell, told := teller(call, q)
		defer told()
		return result(t.Call(call, arguments, tell)), nil, nil
	})
}

// enter counts a call that s.calls.Done ends.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.calls.Add(1)
	}
	return !s.closed
}

// result has the text first and the JSON twice: as such, and as text for clients that know no other.
func result(a Answer) *sdk.CallToolResult {
	r := &sdk.CallToolResult{IsError: a.Failed, Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}
	if a.JSON != nil {
		r.StructuredContent = a.JSON
		r.Content = append(r.Content, &sdk.TextContent{Text: string(a.JSON)})
	}
	return r
}

// teller sends what is told, if the client asked for it. One message waits at most: a client that reads slowly delays
// no measurement. The progress is in seconds, of which there are always more.
func teller(ctx context.Context, q *sdk.CallToolRequest) (tell func(Progress), end func()) {
	token := q.Params.GetProgressToken()
	if token == nil {
		return func(Progress) {}, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	waiting, done, began := make(chan Progress, 1), make(chan struct{}), time.Now()
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case p := <-waiting:
				m := &sdk.ProgressNotificationParams{ProgressToken: token, Message: p.Text,
					Progress: time.Since(began).Seconds()}
				if p.Left > 0 {
					m.Total = m.Progress + p.Left.Seconds()
				}
				_ = q.Session.NotifyProgress(ctx, m) // a client that has left ends the call by itself
			}
		}
	}()
	return func(p Progress) {
			select {
			case waiting <- p:
			default:
			}
		}, func() {
			cancel()
			<-done
		}
}

// Serve speaks with one client until it leaves or ctx ends.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.protocol.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: stream{out}})
	s.Close()
	if ctx.Err() != nil {
		return nil // told to end, it has ended
	}
	return err
}

// stream is closed by whoever opened it.
type stream struct{ io.Writer }

func (stream) Close() error { return nil }

// Handler speaks with clients that send the token and come from no page of another site.
func (s *Server) Handler(token string) http.Handler {
	streamed := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.protocol },
		&sdk.StreamableHTTPOptions{PropagateRequestCancellation: true})
	return secret.Required(token, http.NewCrossOriginProtection().Handler(streamed))
}

// Close waits for the calls, which end by their context, and takes no more.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
}
