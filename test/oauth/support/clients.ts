import { Quotas } from "#src/accounts/Quotas.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { ClientsRepo } from "#src/oauth/ClientsRepo.ts"
import { Projects } from "#src/projects/Projects.ts"
import { ProjectsRepo } from "#src/projects/ProjectsRepo.ts"
import { RegistriesLive } from "#src/registries/Live.ts"
import { Servers } from "#src/servers/Servers.ts"
import { ServersRepo } from "#src/servers/ServersRepo.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Layer } from "effect"
import { FakeMachines, tokensTest } from "../../gateway/support.ts"
import { DatabaseTest } from "../../support/Database.ts"
import { settingsTest } from "../../support/Settings.ts"

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
    PlatformEvents.Default,
    Layer.provide(RegistriesLive, [Quotas.Default, Secrets.Default])
  ]),
  Layer.provideMerge(Layer.mergeAll(tokensTest, RateLimit.Default, FakeMachines.Default)),
  Layer.provideMerge(DatabaseTest),
  Layer.provideMerge(
    settingsTest({ BASE_URL: "http://berth.test", MCP_DOMAIN: "mcp.test", ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
  )
)
