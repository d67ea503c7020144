package line

type Waits struct{}
