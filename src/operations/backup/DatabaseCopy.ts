import { Context, type Effect, type Scope } from "effect"
import { type Readable } from "node:stream"

export interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<string>
}

interface Sequence {
  readonly name: string
  /** Null until it has returned its first number. */
  readonly value: string | null
}

interface DatabaseFailure {
  readonly _tag: "DatabaseError"
  readonly message: string
}

/** A consistent snapshot of the database, table by table. */
export interface Dump {
  readonly migration: number
  readonly keyIds: ReadonlyArray<string>
  readonly tables: ReadonlyArray<Table>
  readonly read: (table: Table) => Readable & { readonly rowCount: number }
  /** Call it after the rows were read. */
  readonly sequences: () => Promise<ReadonlyArray<Sequence>>
}

/** Writes the rows of one table. */
export interface Rows {
  readonly write: (chunk: Uint8Array) => Promise<void>
  /** Returns the number of rows. */
  readonly end: () => Promise<number>
}

export interface Load {
  readonly migration: number
  readonly tables: ReadonlyArray<Table>
  /** Writes all rows, one table after the other, and returns the values of the sequences. */
  readonly feed: (open: (table: Table) => Rows) => Promise<ReadonlyArray<Sequence>>
  /** Statements to run after the load, for work that was in progress when the dump was made. */
  readonly afterwards: ReadonlyArray<string>
}

/** Copies all rows out of the database and into an empty one, without interpreting them. */
export class DatabaseCopy extends Context.Tag("operations/DatabaseCopy")<DatabaseCopy, {
  readonly dump: Effect.Effect<Dump, DatabaseFailure, Scope.Scope>
  /** Atomic. */
  readonly load: (load: Load) => Effect.Effect<void, DatabaseFailure>
}>() {}
