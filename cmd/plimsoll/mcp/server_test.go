package mcp

import (
	"context"
	"encoding/json"
	"net"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(m) }

var anyArguments = map[string]any{"type": "object"}

// connect a client to a server of these tools. Ended has what Serve returns; leave cuts the connection.
func connect(t *testing.T, ctx context.Context, progress func(string), tools ...Tool) (session *sdk.ClientSession,
	leave func(), _ <-chan error) {
	t.Helper()
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- New(ctx, "1", "", tools).Serve(ctx, far, far)
		far.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, q *sdk.ProgressNotificationClientRequest) {
			progress(q.Params.Message)
		}})
	session, err := client.Connect(patience.Context(t), &sdk.IOTransport{Reader: near, Writer: near}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, func() { near.Close() }, ended
}

func call(session *sdk.ClientSession, ctx context.Context) (*sdk.CallToolResult, error) {
	return session.CallTool(ctx, &sdk.CallToolParams{Meta: sdk.Meta{"progressToken": 1}, Name: "wait"})
}

// TestCallsEnd with the client's patience, with the client and with the server; each time nothing is left of them.
func TestCallsEnd(t *testing.T) {
	for name, end := range map[string]func(giveUp, leave, stop func()){
		"Cancelled":   func(giveUp, _, _ func()) { giveUp() },
		"ClientLeft":  func(_, leave, _ func()) { leave() },
		"ServerEnded": func(_, _, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			patient, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			began, over := make(chan struct{}), make(chan struct{})
			session, leave, ended := connect(t, ctx, func(string) {}, Tool{Name: "wait", Arguments: anyArguments,
				Call: func(ctx context.Context, _ map[string]any, _ func(Progress)) Answer {
					close(began)
					<-ctx.Done()
					close(over)
					return Answer{Text: "stopped"}
				}})
			go func() { _, _ = call(session, patient) }()
			<-began
			end(giveUp, leave, stop)
			<-over
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSlowClientDelaysNothing: a load does not wait for whoever looks at it.
func TestSlowClientDelaysNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reads, told := make(chan struct{}), make(chan struct{})
	session, _, _ := connect(t, ctx, func(string) { <-reads }, Tool{Name: "wait", Arguments: anyArguments,
		Call: func(_ context.Context, _ map[string]any, tell func(Progress)) Answer {
			for range 1000 {
				tell(Progress{Text: "on its way"})
			}
			close(told)
			return Answer{Text: "done", JSON: json.RawMessage(`{"n":1}`)}
		}})
	answer := make(chan *sdk.CallToolResult, 1)
	go func() {
		r, _ := call(session, ctx)
		answer <- r
	}()
	<-told
	close(reads)
	r := <-answer
	if r == nil || len(r.Content) != 2 || r.Content[0].(*sdk.TextContent).Text != "done" ||
		r.Content[1].(*sdk.TextContent).Text != `{"n":1}` {
		t.Errorf("want the text first and the JSON, got %+v", r)
	}
}

func TestWhatTheSchemaDoesNotAllowReachesNoTool(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	session, _, _ := connect(t, ctx, func(string) {}, Tool{Name: "wait",
		Arguments: map[string]any{"type": "object", "additionalProperties": false},
		Call: func(context.Context, map[string]any, func(Progress)) Answer {
			t.Error("called")
			return Answer{}
		}})
	r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"dsn": "elsewhere"}})
	if err == nil && !r.IsError {
		t.Errorf("taken: %+v", r)
	}
}
