import { Quotas } from "#src/accounts/Quotas.ts"
import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Teardown } from "#src/images/Teardown.ts"
import { ListingsLive } from "#src/listings/Live.ts"
import { Machines } from "#src/machines/Machines.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { ClientsRepo } from "#src/oauth/ClientsRepo.ts"
import { Projects } from "#src/projects/Projects.ts"
import { ProjectsRepo } from "#src/projects/ProjectsRepo.ts"
import { RegistriesLive } from "#src/registries/Live.ts"
import { Servers } from "#src/servers/Servers.ts"
import { ServersRepo } from "#src/servers/ServersRepo.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { MachineMetering } from "#src/usage/MachineMetering.ts"
import { MachineMeteringRepo } from "#src/usage/MachineMeteringRepo.ts"
import { Layer } from "effect"
import { FakeMachines, tokensTest } from "../../gateway/support.ts"
import { DatabaseTest } from "../../support/Database.ts"
import { settingsTest } from "../../support/Settings.ts"

const noMachines = Layer.succeed(
  Machines,
  new Proxy({} as typeof Machines.Service, {
    get: (_, name) => {
      throw new Error(`Machines.${String(name)} is not to be called here`)
    }
  })
)

/**
 * The clients' service on a database of its own, which may speak http to hosts on loopback. Nothing in it repeats, so
 * that the clock can be moved by days.
 */
export const clientsTest = OAuthClients.Default.pipe(
  Layer.provide([ClientsRepo.Default, GuardedHttp.Default]),
  Layer.provide(Servers.Default),
  Layer.provideMerge(Projects.Default),
  Layer.provide([
    ProjectsRepo.Default,
    ServersRepo.Default,
    Quotas.Default,
    ListingsLive,
    Layer.provide(RegistriesLive, [Quotas.Default, Secrets.Default]),
    Layer.provide(Teardown.Default, ImageCleanup.Default),
    Layer.provide(MachineMetering.Default, MachineMeteringRepo.Default)
  ]),
  Layer.provide(noMachines),
  Layer.provideMerge(Layer.mergeAll(tokensTest, RateLimit.Default, FakeMachines.Default)),
  Layer.provideMerge(DatabaseTest),
  Layer.provideMerge(
    settingsTest({ BASE_URL: "http://berth.test", MCP_DOMAIN: "mcp.test", ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
  )
)
