/* Stands in for PostgreSQL: postgres.h has it all. */
