package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"plimsoll/platform/document"
	"plimsoll/platform/jobs"
)

const jobsListed = 50

// jobRoutes are those of background jobs. An organisation sees its own.
func (s *Server) jobRoutes(secured func(pattern, operation string, h handle)) {
	if s.config.Jobs == nil {
		return
	}
	secured("GET /v1/job-kinds", "job.kinds", s.listJobKinds)
	secured("GET /v1/jobs", "job.list", s.listJobs)
	secured("POST /v1/jobs/{kind}", "job.start", s.startJob)
	secured("GET /v1/jobs/{number}", "job.show", s.showJob)
	secured("POST /v1/jobs/{number}/cancel", "job.cancel", s.cancelJob)
}

func (s *Server) listJobKinds(context.Context, *request) (answer, error) {
	type kind struct {
		Kind  string `json:"kind"`
		Title string `json:"title"`
	}
	all := []kind{}
	for _, k := range s.config.Jobs.Kinds() {
		all = append(all, kind{k.Name, k.Title})
	}
	return encoded(http.StatusOK, map[string]any{"kinds": all})
}

func (s *Server) listJobs(ctx context.Context, r *request) (answer, error) {
	all, err := s.config.Jobs.List(ctx, r.user.Organisation.String(), jobsListed)
	if err != nil {
		return answer{}, err
	}
	return encoded(http.StatusOK, map[string]any{"jobs": all})
}

// startJob answers 202, and 200 when the same job was there and is not finished.
func (s *Server) startJob(ctx context.Context, r *request) (answer, error) {
	if len(r.body) > 0 && !json.Valid(r.body) {
		return answer{}, &document.Invalid{Field: "body", Reason: "not JSON"}
	}
	number, fresh, err := s.config.Jobs.Submit(ctx, r.PathValue("kind"), r.user.Organisation.String(), r.body)
	if err != nil {
		return answer{}, jobError(err)
	}
	job, err := s.config.Jobs.Show(ctx, r.user.Organisation.String(), number)
	if err != nil {
		return answer{}, jobError(err)
	}
	if !fresh {
		return encoded(http.StatusOK, job)
	}
	return encoded(http.StatusAccepted, job)
}

func (s *Server) showJob(ctx context.Context, r *request) (answer, error) {
	job, err := s.config.Jobs.Show(ctx, r.user.Organisation.String(), jobNumber(r))
	if err != nil {
		return answer{}, jobError(err)
	}
	return encoded(http.StatusOK, job)
}

func (s *Server) cancelJob(ctx context.Context, r *request) (answer, error) {
	if err := s.config.Jobs.Cancel(ctx, r.user.Organisation.String(), jobNumber(r)); err != nil {
		return answer{}, jobError(err)
	}
	return s.showJob(ctx, r)
}

// jobNumber of the path; what is none is a number that no job has.
func jobNumber(r *request) int64 {
	n, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil || n < 1 {
		return -1
	}
	return n
}

func jobError(err error) error {
	if errors.Is(err, jobs.ErrUnknown) || errors.Is(err, jobs.ErrUnknownKind) {
		return errNotFound
	}
	return err
}
