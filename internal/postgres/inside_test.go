package postgres

// CreditsSQL is what the test of its plan explains.
const CreditsSQL = creditsSQL
