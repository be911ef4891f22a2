import { Machines } from "#src/machines/Machines.ts"
import { layer, type Vitest } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { DatabaseTest } from "../../support/Database.ts"
import { describeLong, describeWhen, full } from "../../support/needs.ts"
import { settingsTest } from "../../support/Settings.ts"
import { missingForApps } from "./app-image.ts"
import { services } from "./services.ts"

export * from "./account.ts"

/** Machines outlive the process that started them: a test takes its own along. */
const tidy = Layer.scopedDiscard(
  Effect.flatMap(Machines, (machines) =>
    Effect.addFinalizer(() =>
      machines.list().pipe(
        Effect.flatMap(Effect.forEach(({ name }) => machines.destroy(name), { concurrency: 8 })),
        Effect.orDie
      )
    ))
)

/** The services on a database and a home of their own. */
const platform = (variables: Readonly<Record<string, string>> = {}) =>
  tidy.pipe(Layer.provideMerge(services(DatabaseTest, settingsTest(variables))))

type Suite = (
  it: Vitest.MethodsNonLive<Layer.Layer.Success<ReturnType<typeof platform>>, true>
) => void

/** A suite on a platform of its own, where the images of these tests can be made. */
export const platformSuite = (name: string, suite: Suite, variables: Readonly<Record<string, string>> = {}) =>
  missingForApps === undefined
    ? layer(platform(variables), { excludeTestServices: true, timeout: 60_000 })(name, suite)
    : describeWhen(missingForApps, name, () => undefined)

/** The same, in a full run. */
export const longPlatformSuite = (name: string, suite: Suite, variables?: Readonly<Record<string, string>>) =>
  full ? platformSuite(name, suite, variables) : describeLong(name, () => undefined)
