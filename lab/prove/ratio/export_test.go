package ratio

// Rank is the rank of the ends of an interval among the quotients.
var Rank = rankOf
