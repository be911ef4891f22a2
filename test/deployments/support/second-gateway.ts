import { Descriptors } from "#http/connection/Descriptors.ts"
import { clientLayer } from "#sql/Client.ts"
import { type CurrentSettings } from "#src/config/Settings.ts"
import { type MachineStates } from "#src/machines/Machines.ts"
import { GatewayServicesLive } from "#src/Services.ts"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { startGateway } from "../../gateway/support.ts"
import { type Berth } from "../../support/Berth.ts"
import { settingsTest } from "../../support/Settings.ts"

/**
 * What a process of the gateway role is, beside a platform that runs: it shares nothing with the first gateway but the
 * database and the machines.
 */
export const secondGateway = async (
  { databaseUrl, url }: Pick<Berth, "databaseUrl" | "url">,
  machines: Layer.Layer<MachineStates, never, CurrentSettings>,
  variables: Readonly<Record<string, string>> = {}
) => {
  const scope = Effect.runSync(Scope.make())
  const services = Layer.fresh(GatewayServicesLive).pipe(
    Layer.merge(Descriptors.Default),
    Layer.provide(machines),
    Layer.provideMerge(clientLayer(Redacted.make(databaseUrl), 5)),
    Layer.provideMerge(settingsTest({ BASE_URL: url, ...variables }))
  )
  const started = Effect.flatMap(Layer.build(services), (context) => Effect.provide(startGateway, context))
  const { port } = await Effect.runPromise(Scope.extend(started, scope))
  return { url: `http://127.0.0.1:${port}`, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
