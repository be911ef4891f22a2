import { type SqlClient, type SqlConnection, type SqlError, Statement } from "@effect/sql"
import { Effect, FiberRef, Option, Predicate } from "effect"

type Rows = Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>

/** What a statement of `@effect/sql` has beside what its type tells. The pool's connections need no scope. */
interface Whole extends Statement.Statement<unknown> {
  commit: () => Rows
  readonly acquirer: Effect.Effect<SqlConnection.Connection, SqlError.SqlError>
  readonly transformRows: Parameters<SqlConnection.Connection["execute"]>[2]
}

const isWhole = (made: unknown): made is Whole =>
  ["acquirer", "commit", "compile", "transformRows"].every((name) => Predicate.hasProperty(made, name))

/** What runs a statement, in place of its own `commit`. */
const commitOf = (statement: Whole, traced: () => Rows) => () =>
  Effect.withFiberRuntime<ReadonlyArray<unknown>, SqlError.SqlError>((fiber) => {
    const isWatched = fiber.getFiberRef(FiberRef.currentTracerEnabled) ||
      Option.isSome(fiber.getFiberRef(Statement.currentTransformer))
    if (isWatched) return traced()
    const [text, parameters] = statement.compile()
    return Effect.flatMap(
      statement.acquirer,
      (connection) => connection.execute(text, parameters, statement.transformRows)
    )
  })

/**
 * The client, whose statements run without a span and a scope where nobody collects traces and nothing transforms them:
 * both take more steps of a fiber than the statement itself.
 */
export const lightClient = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const light = (...args: ReadonlyArray<unknown>) => {
    const made: unknown = Reflect.apply(client, undefined, args)
    if (isWhole(made)) made.commit = commitOf(made, made.commit.bind(made))
    return made
  }
  return Object.assign(light, client)
}
