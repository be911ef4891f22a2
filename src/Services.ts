import { Layer } from "effect"
import { Accounts } from "./accounts/Accounts.ts"
import { AccountsRepo } from "./accounts/AccountsRepo.ts"
import { Passwords } from "./accounts/Passwords.ts"
import { Billing } from "./billing/Billing.ts"
import { Teardown } from "./machines/Teardown.ts"
import { ApiKeys } from "./projects/ApiKeys.ts"
import { ApiKeysRepo } from "./projects/ApiKeysRepo.ts"
import { Projects } from "./projects/Projects.ts"
import { ProjectsRepo } from "./projects/ProjectsRepo.ts"
import { Environment } from "./servers/Environment.ts"
import { EnvironmentRepo } from "./servers/EnvironmentRepo.ts"
import { Health } from "./servers/Health.ts"
import { ServerLogs } from "./servers/ServerLogs.ts"
import { ServerLogsRepo } from "./servers/ServerLogsRepo.ts"
import { Servers } from "./servers/Servers.ts"
import { ServersRepo } from "./servers/ServersRepo.ts"
import { Idempotency } from "./shared/Idempotency.ts"
import { IdempotencyRepo } from "./shared/IdempotencyRepo.ts"
import { RateLimit } from "./shared/RateLimit.ts"
import { Secrets } from "./shared/Secrets.ts"

const repos = Layer.mergeAll(
  AccountsRepo.Default,
  ApiKeysRepo.Default,
  EnvironmentRepo.Default,
  IdempotencyRepo.Default,
  ProjectsRepo.Default,
  ServerLogsRepo.Default,
  ServersRepo.Default
)

const shared = Layer.mergeAll(Secrets.Default, RateLimit.Default, Passwords.Default, Teardown.Default)

/** The one place where services are wired. Needs a database client, the settings, and what runs machines. */
export const ServicesLive = Layer.mergeAll(Environment.Default, ServerLogs.Default).pipe(
  Layer.provideMerge(Servers.Default),
  Layer.provideMerge(ApiKeys.Default),
  Layer.provideMerge(Projects.Default),
  Layer.provideMerge(Layer.mergeAll(Accounts.Default, Billing.Default, Health.Default, Idempotency.Default)),
  Layer.provideMerge(shared),
  Layer.provide(repos)
)
