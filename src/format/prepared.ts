/**
 * Begins the text of a statement that PostgreSQL is to parse and plan once a connection: for frequent statements whose
 * plan does not depend on their values, since PostgreSQL may go on with one plan for all values (PREPARE, Notes).
 */
export const prepared = "/* prepared */"
