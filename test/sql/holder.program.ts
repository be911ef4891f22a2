import { embedded } from "#sql/Embedded.ts"
import { Effect } from "effect"

/** A process that serves a home until it is killed: prints a line when it does. */
const [home = ""] = process.argv.slice(2)
await Effect.runPromise(
  Effect.scoped(
    embedded(home).pipe(
      Effect.andThen(Effect.sync(() => console.log("serving"))),
      Effect.andThen(Effect.never)
    )
  )
)
