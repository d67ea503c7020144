package fill

// Divide makes a base of an eighth be filled as a whole one is: in as many units, its indexes deferred.
func Divide() {
	const by = 8
	documentsAtOnce /= by
	deferredFrom /= by
}
