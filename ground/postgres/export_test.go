package postgres

// Postmaster for tests, which start servers and so stand outside of the package.
var Postmaster = postmaster
