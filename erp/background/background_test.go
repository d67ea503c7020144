package background_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/erptest"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/server"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// A user starts a restoration, watches it and cancels one that nobody works on; other organisations know nothing of it.
func TestJobsOverHTTP(t *testing.T) {
	c := erptest.New(t, 3)
	base := c.Worker(t, server.Config{Jobs: backgroundtest.Open(t, c.DSN, 2)})
	user, other := erptest.Login(t, base, c.Organisations[0].User), erptest.Login(t, base, c.Organisations[1].User)
	o := c.Organisations[0]
	post := func(kind, date, quantity string) {
		t.Helper()
		a := user.Post(t, kind, "", erptest.Document{
			Warehouse: o.Warehouses[0], Counterparty: o.Counterparty, Date: date,
			Lines: []erptest.Line{{Item: c.Items[0], Quantity: quantity}},
		})
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	post("goods-receipt", "2025-05-10T00:00:00Z", "5")
	post("goods-sale", "2025-05-12T00:00:00Z", "3")
	post("goods-receipt", "2025-05-01T00:00:00Z", "1") // late

	for _, bad := range []struct {
		path, body string
		status     int
	}{
		{"/v1/job-kinds/none/jobs", "", 404}, {"/v1/job-kinds/restoration/jobs", "{", 400},
		{"/v1/job-kinds/restoration/jobs", `{"lines": -1}`, 400}, {"/v1/job-kinds/restoration/jobs", `[]`, 400},
		{"/v1/job-kinds/month-close/jobs", `{"month": "May"}`, 400}, {"/v1/job-kinds/recalculation/jobs", "", 409},
		{"/v1/jobs/17/cancel", "", 404}, {"/v1/jobs/x/cancel", "", 404},
	} {
		if a := user.Call(t, "POST", bad.path, "", []byte(bad.body)); a.Status != bad.status {
			t.Errorf("%s %s: %d %s, want %d", bad.path, bad.body, a.Status, a.Body, bad.status)
		}
	}

	first := start(t, user, 202)
	if again := start(t, user, 200); again.Number != first.Number {
		t.Errorf("%+v and %+v", first, again)
	}
	path := fmt.Sprintf("/v1/jobs/%d", first.Number)
	if a := other.Call(t, "GET", path, "", nil); a.Status != 404 {
		t.Errorf("another organisation sees %d %s", a.Status, a.Body)
	}
	if a := user.Call(t, "POST", path+"/cancel", "", nil); a.Status != 200 || read(t, a).State != jobs.Cancelled {
		t.Errorf("%d %s", a.Status, a.Body)
	}

	second := start(t, user, 202)
	backgroundtest.Start(t, c.DSN, 2)
	path = fmt.Sprintf("/v1/jobs/%d", second.Number)
	job := second
	patience.Until(t, "the job has ended", func() bool {
		job = read(t, user.Call(t, "GET", path, "", nil))
		return job.State.Ended()
	})
	var done struct{ Keys, Rows int }
	if err := json.Unmarshal(job.Result, &done); err != nil || job.State != jobs.Done || done.Keys != 1 ||
		done.Rows != 3 {
		t.Errorf("%+v %s %v", job, job.Result, err)
	}
	if left := c.Value(t, "SELECT count(*) FROM acc_batches_boundary"); left != "0" {
		t.Errorf("%s boundaries left", left)
	}
	erptest.Clean(t, c.Database)

	var list struct{ Jobs []jobs.Job }
	if a := user.Call(t, "GET", "/v1/jobs", "", nil); json.Unmarshal(a.Body, &list) != nil || len(list.Jobs) != 2 ||
		list.Jobs[0].Number != second.Number {
		t.Errorf("jobs %s, want two, the newest first", a.Body)
	}
	if a := user.Call(t, "GET", "/v1/job-kinds", "", nil); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func start(t *testing.T, u *erptest.User, status int) jobs.Job {
	t.Helper()
	a := u.Call(t, "POST", "/v1/job-kinds/restoration/jobs", "", nil)
	if a.Status != status {
		t.Fatalf("%d %s, want %d", a.Status, a.Body, status)
	}
	return read(t, a)
}

func read(t *testing.T, a erptest.Answer) (job jobs.Job) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &job); err != nil {
		t.Fatalf("%s: %v", a.Body, err)
	}
	return job
}
