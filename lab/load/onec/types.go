package onec

// types of texts in a base.
type types struct {
	mchar bool // the extension's: they ignore case and trailing blanks
	// collation of plain texts; empty: the database's.
	collation string
}

// plainCollation sorts plain texts by ICU, as the extension sorts its own. They heed case: comparing as mvarchar does
// would take a nondeterministic collation, which has no LIKE before PostgreSQL 18.
const plainCollation = "plimsoll_1c"

func (t types) variable(size string) string {
	if t.mchar {
		return "mvarchar(" + size + ")"
	}
	return "varchar(" + size + ")" + t.collate()
}

func (t types) fixed(size string) string {
	if t.mchar {
		return "mchar(" + size + ")"
	}
	return "varchar(" + size + ")" + t.collate() // not char(n), which is padded to a client
}

func (t types) collate() string {
	if t.collation == "" {
		return ""
	}
	return " COLLATE " + t.collation
}
