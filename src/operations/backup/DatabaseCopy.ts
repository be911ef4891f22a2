import { Context, type Effect, type Scope } from "effect"
import { type Readable } from "node:stream"

export interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<string>
}

interface Sequence {
  readonly name: string
  /** Null: it has given no number yet. */
  readonly value: string | null
}

interface DatabaseFailure {
  readonly _tag: "DatabaseError"
  readonly message: string
}

/** One moment of the database, table by table. */
export interface Dump {
  readonly migration: number
  readonly keyIds: ReadonlyArray<string>
  readonly tables: ReadonlyArray<Table>
  readonly read: (table: Table) => Readable & { readonly rowCount: number }
  /** To be asked after the rows were read. */
  readonly sequences: () => Promise<ReadonlyArray<Sequence>>
}

/** The rows of one table on their way in. */
export interface Rows {
  readonly write: (chunk: Uint8Array) => Promise<void>
  /** How many they were. */
  readonly end: () => Promise<number>
}

export interface Load {
  readonly migration: number
  readonly tables: ReadonlyArray<Table>
  /** Hands over every row, one table after the other, and answers with the values of the sequences. */
  readonly feed: (open: (table: Table) => Rows) => Promise<ReadonlyArray<Sequence>>
  /** Statements that put right what was in the middle of something. */
  readonly afterwards: ReadonlyArray<string>
}

/** The rows of the whole database, out of it and into an empty one; what they are is no concern of who carries them. */
export class DatabaseCopy extends Context.Tag("operations/DatabaseCopy")<DatabaseCopy, {
  readonly dump: Effect.Effect<Dump, DatabaseFailure, Scope.Scope>
  /** All of it or nothing. */
  readonly load: (load: Load) => Effect.Effect<void, DatabaseFailure>
}>() {}
