import { it } from "vitest"
import { type Row } from "./rows.ts"

/** A test that holds one row of the contract, and has its name. */
export const row = (name: Row, test: () => Promise<void>) => it(name, test)
