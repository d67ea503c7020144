package posting

import "plimsoll/platform/data/database"

// refused turns a unique violation of an information register into a refusal.
func (b *Books) refused(err error) error {
	if !database.IsUniqueViolation(err) {
		return err
	}
	constraint := database.Constraint(err)
	for name, r := range b.known {
		if r.Meta().Constraint() == constraint {
			return &Refusal{Control: name, Message: r.Meta().Title + ": another document has already recorded it"}
		}
	}
	return err
}
