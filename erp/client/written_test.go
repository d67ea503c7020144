package client

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
)

func TestWhatIsKnownOfAnOperation(t *testing.T) {
	answer := func(status int, body string) *response {
		return &response{status: status, body: bytes.NewBufferString(body)}
	}
	busy := `{"error":{"code":"overloaded"}}`
	unknown := Written{Unknown: 1, UnknownDocuments: 1}
	for name, c := range map[string]struct {
		resent bool
		r      *response
		err    error
		want   Written
	}{
		"Done":             {false, answer(http.StatusCreated, ""), nil, Written{Acknowledged: 1, Documents: 1}},
		"DoneAtLast":       {true, answer(http.StatusCreated, ""), nil, Written{Acknowledged: 1, Documents: 1}},
		"Refused":          {false, answer(http.StatusConflict, ""), nil, Written{}},
		"NotBegun":         {false, answer(http.StatusServiceUnavailable, busy), nil, Written{}},
		"ServerFailed":     {false, answer(http.StatusInternalServerError, ""), nil, unknown},
		"Lost":             {true, nil, errors.New("reset"), unknown},
		"LostThenRefused":  {true, answer(http.StatusConflict, ""), nil, unknown},
		"LostThenNotBegun": {true, answer(http.StatusServiceUnavailable, busy), nil, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledger{all: map[string]Written{}}
			l.note(http.MethodPost, documentsPath+"goods-sale", c.resent, c.r, c.err)
			if got := l.all["goods_sale"]; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
