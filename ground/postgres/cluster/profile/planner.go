package profile

func (m share) planner() []Setting {
	return append(m.disk(),
		set("from_collapse_limit", 20, "as in the field report: generated queries join many tables"),
		set("join_collapse_limit", 20, "as in the field report: the same for explicit joins"),
		set("jit", "off", "as in the field report: compiling costs more than these short queries take"),
	)
}

func (m share) disk() []Setting {
	if m.rotating {
		return []Setting{set("random_page_cost", "4.0", "not the field report's 1.1: this disk rotates")}
	}
	s := []Setting{set("random_page_cost", "1.1", "as in the field report: seeks cost nothing on a solid-state disk%s",
		m.unsureNote())}
	if m.version < 18 { // 18 counts differently, and its default is right
		s = append(s, set("effective_io_concurrency", 200,
			"deep prefetch: a solid-state disk serves many reads at once%s", m.unsureNote()))
	}
	return s
}
