package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"plimsoll/platform/books/document"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/openapi"
)

const jobsListed = 50

// jobEndpoints are the operations on background jobs. An organisation sees only its own.
func (s *Server) jobEndpoints() []Endpoint {
	if s.config.Jobs == nil {
		return nil
	}
	number := openapi.Parameter{Name: "number", In: "path", Required: true, Description: "of the job",
		Schema: openapi.Integer("")}
	kind := openapi.Parameter{Name: "kind", In: "path", Required: true, Description: "of job, one of `/v1/job-kinds`",
		Schema: openapi.String("")}
	all := []Endpoint{{
		Method: "GET", Path: "/v1/job-kinds", Operation: "job.kinds", Summary: "Kinds of background jobs",
		Success: []Success{{Status: http.StatusOK, Means: "the kinds",
			Schema: openapi.Object(openapi.Named[*openapi.Schema]{
				{Name: "kinds", Value: openapi.Array(
					openapi.Object(openapi.Named[*openapi.Schema]{{Name: "kind", Value: openapi.String("")},
						{Name: "title", Value: openapi.String("")}}))},
			})}}, handle: s.listJobKinds,
	}, {
		Method: "POST", Path: "/v1/job-kinds/{kind}/jobs", Operation: "job.start", Summary: "Start a background job",
		Parameters: []openapi.Parameter{kind},
		Description: "The body has the arguments of the kind. Some kinds allow only one unfinished job with the same " +
			"arguments: starting another returns that one.",
		Body: &openapi.Schema{Type: "object"}, BodyOptional: true, Fails: []string{codeNotFound, codeRefused},
		handle: s.startJob,
		Success: []Success{
			{Status: http.StatusAccepted, Means: "it is waiting for a worker", Schema: jobSchema()},
			{Status: http.StatusOK, Means: "it already existed and is not finished", Schema: jobSchema()},
		},
	}, {
		Method: "GET", Path: "/v1/jobs", Operation: "job.list", Summary: "Background jobs",
		Description: "The newest first.",
		Success: []Success{{Status: http.StatusOK, Means: "the jobs",
			Schema: openapi.Object(openapi.Named[*openapi.Schema]{{Name: "jobs", Value: openapi.Array(jobSchema())}})}},
		handle: s.listJobs,
	}, {
		Method: "GET", Path: "/v1/jobs/{number}", Operation: "job.show", Summary: "Progress of a background job",
		Parameters: []openapi.Parameter{number},
		Success:    []Success{{Status: http.StatusOK, Means: "the job", Schema: jobSchema()}},
		Fails:      []string{codeNotFound}, handle: s.showJob,
	}, {
		Method: "POST", Path: "/v1/jobs/{number}/cancel", Operation: "job.cancel", Summary: "Cancel a background job",
		Parameters:  []openapi.Parameter{number},
		Description: "What it has committed stays. It ends when its running parts have stopped.",
		Success:     []Success{{Status: http.StatusOK, Means: "the job", Schema: jobSchema()}},
		Fails:       []string{codeNotFound}, handle: s.cancelJob,
	}}
	for i := range all {
		all[i].Tag = tagJob
	}
	return all
}

func jobSchema() *openapi.Schema {
	return openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "number", Value: openapi.Integer("")}, {Name: "kind", Value: openapi.String("")},
		{Name: "state", Value: openapi.String("queued, running, interrupted (until another worker takes it over), " +
			"done, failed or cancelled")},
		{Name: "arguments", Value: &openapi.Schema{}}, {Name: "created", Value: openapi.Moment("")},
		{Name: "started", Value: openapi.Moment("")}, {Name: "ended", Value: openapi.Moment("")},
		{Name: "parts", Value: openapi.Object(openapi.Named[*openapi.Schema]{
			{Name: "all", Value: openapi.Integer("")}, {Name: "running", Value: openapi.Integer("")},
			{Name: "done", Value: openapi.Integer("")}, {Name: "failed", Value: openapi.Integer("")},
		})},
		{Name: "done", Value: openapi.Integer("of the total")},
		{Name: "total", Value: openapi.Integer("zero until it is planned")},
		{Name: "left_s", Value: openapi.Number("estimated seconds left, from the speed so far")},
		{Name: "result", Value: &openapi.Schema{}}, {Name: "error", Value: openapi.String("")},
	}, "started", "ended", "left_s", "result", "error")
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

// jobNumber in the path; -1, which no job has, if it is not a number.
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
