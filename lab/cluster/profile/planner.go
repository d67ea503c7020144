package profile

func (m share) planner() []Setting {
	return append(m.disk(),
		set("from_collapse_limit", 20, "the field's: generated queries join many tables"),
		set("join_collapse_limit", 20, "the field's: the same for explicit joins"),
		set("jit", "off", "the field's: compiling costs more than these short queries take"),
	)
}

func (m share) disk() []Setting {
	if m.rotating {
		return []Setting{set("random_page_cost", "4.0", "not the field's 1.1: this disk rotates")}
	}
	s := []Setting{set("random_page_cost", "1.1", "the field's: a solid-state disk seeks for nothing%s", m.doubt())}
	if m.version < 18 { // 18 counts otherwise, and its default is right
		s = append(s, set("effective_io_concurrency", 200, "prefetch deep: a solid-state disk serves many reads at once%s", m.doubt()))
	}
	return s
}
