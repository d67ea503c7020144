package delay

import "time"

// Held is how long a chunk is held back now.
func (p *Proxy) Held() time.Duration { return time.Duration(p.hold.Load()) }
