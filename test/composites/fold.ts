import { clientLayer } from "#sql/Client.ts"
import { SystemCompositesLive } from "#src/composites/Live.ts"
import { SystemComposites } from "#src/composites/SystemComposites.ts"
import { Effect, Layer, Redacted } from "effect"

const onDatabase = (url: string) => <A, E>(work: Effect.Effect<A, E, SystemComposites>) =>
  Effect.runPromise(
    Effect.scoped(Effect.provide(work, Layer.provide(SystemCompositesLive, clientLayer(Redacted.make(url), 1))))
  )

/** What the job does that counts changed groups. */
export const foldComposites = (url: string) => onDatabase(url)(Effect.flatMap(SystemComposites, ({ fold }) => fold))

/** What the job does every six hours. */
export const makeSystemComposites = (url: string) =>
  onDatabase(url)(Effect.flatMap(SystemComposites, ({ make }) => make))
