import { Args, HelpDoc } from "@effect/cli"
import { Effect } from "effect"

/** An argument of text. The library takes a mistyped option for one where an argument may still come. */
export const word = (name: string) =>
  Args.text({ name }).pipe(
    Args.mapEffect((text) =>
      text.startsWith("-")
        ? Effect.fail(HelpDoc.p(`Received unknown argument: '${text}'`))
        : Effect.succeed(text)
    )
  )
