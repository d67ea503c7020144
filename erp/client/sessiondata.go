package client

import (
	"context"
	"net/http"
)

const sessionData = "/v1/sessions/current/data/"

// Keep stores a value, which is JSON, in the session under a key.
func (c *Client) Keep(ctx context.Context, s *Session, key string, value []byte) error {
	r, err := c.send(ctx, s, http.MethodPut, sessionData+key, "", value)
	if err != nil {
		return err
	}
	defer r.free()
	_, err = r.outcome()
	return err
}

// Kept appends the value that the session stores under a key.
func (c *Client) Kept(ctx context.Context, s *Session, key string, to []byte) ([]byte, error) {
	r, err := c.send(ctx, s, http.MethodGet, sessionData+key, "", nil)
	if err != nil {
		return to, err
	}
	defer r.free()
	if _, err := r.outcome(); err != nil {
		return to, err
	}
	return append(to, r.body.Bytes()...), nil
}
