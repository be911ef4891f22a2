import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { printable } from "#src/cli/mcp/render.ts"
import { Console, Effect, ParseResult, Predicate } from "effect"

/** Something that a command has created, and how it goes again; false where somebody uses it by now. */
export interface Created {
  readonly what: string
  readonly remove: Effect.Effect<boolean, unknown>
}

/** Whether the installation says no, or would; one that is not reached, or fails, may take the same later. */
const isRefusal = (error: unknown) => {
  if (ParseResult.isParseError(error)) return true
  if (error instanceof CliFailure) return error.code === exitCodes.planLimit || error.code === exitCodes.notLetIn
  if (!Predicate.isTagged(error, "ResponseError")) return false
  const { status } = (error as unknown as { readonly response: { readonly status: number } }).response
  return status >= 400 && status < 500 && status !== 429
}

/** Takes back what `use` has created when the installation refuses a later step of it: nothing half-made is left. */
export const takingBack = <A, E, R>(use: (created: (one: Created) => void) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const all: Array<Created> = []
    // The newest first: a server is in a project.
    const takeBack = Effect.suspend(() =>
      Effect.forEach(all.toReversed(), ({ remove, what }) =>
        Effect.matchEffect(remove, {
          onFailure: () => Console.error(printable(`${what} is left: it could not be removed`)),
          onSuccess: (removed) => removed ? Console.error(printable(`Removed ${what} again`)) : Effect.void
        }), { discard: true })
    )
    return Effect.tapError(use((one) => void all.push(one)), (error) => isRefusal(error) ? takeBack : Effect.void)
  })
