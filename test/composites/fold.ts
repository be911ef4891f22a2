import { clientLayer } from "#sql/Client.ts"
import { BroadLabels } from "#src/composites/BroadLabels.ts"
import { SystemCompositesLive } from "#src/composites/Live.ts"
import { SystemComposites } from "#src/composites/SystemComposites.ts"
import { Effect, Layer, Redacted } from "effect"
import { runSql } from "../support/sql.ts"

const onDatabase = (url: string) => <A, E>(work: Effect.Effect<A, E, SystemComposites>) =>
  Effect.runPromise(
    Effect.scoped(Effect.provide(work, Layer.provide(SystemCompositesLive, clientLayer(Redacted.make(url), 1))))
  )

/** What the job does that counts changed groups. */
export const foldComposites = (url: string) => onDatabase(url)(Effect.flatMap(SystemComposites, ({ fold }) => fold))

/** What the job does that chooses broad labels, with those of so few members. */
export const chooseBroadLabels = (url: string, least: number) =>
  Effect.runPromise(Effect.scoped(Effect.provide(
    Effect.flatMap(BroadLabels, ({ choose }) => choose(least)),
    Layer.provide(BroadLabels.Default, clientLayer(Redacted.make(url), 1))
  )))

/** Leaves them to the test: the job would find that none is broad. */
export const delayBroadLabels = (url: string) =>
  runSql(
    url,
    `INSERT INTO jobs (name, host, interval_millis, due_at)
     VALUES ('Choosing broad labels of composites', '', 300000, now() + interval '1 day')
     ON CONFLICT (name, host) DO UPDATE SET due_at = excluded.due_at`
  )

/** What the job does every six hours. */
export const makeSystemComposites = (url: string) =>
  onDatabase(url)(Effect.flatMap(SystemComposites, ({ make }) => make))
