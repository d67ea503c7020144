package machine

import "testing"

func TestDescribeNamesTheMachine(t *testing.T) {
	got, err := Describe("/")
	if err != nil || got.Kernel == "" || got.MemoryBytes < 64<<20 || got.Cores < 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
