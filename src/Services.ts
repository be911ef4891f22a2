import { Layer } from "effect"
import { Accounts } from "./accounts/Accounts.ts"
import { AccountsRepo } from "./accounts/AccountsRepo.ts"
import { Attempts } from "./accounts/Attempts.ts"
import { AttemptsRepo } from "./accounts/AttemptsRepo.ts"
import { Passwords } from "./accounts/Passwords.ts"
import { Billing } from "./billing/Billing.ts"
import { Quotas } from "./billing/Quotas.ts"
import { BusinessesLive } from "./businesses/Live.ts"
import { DeploymentsLive } from "./deployments/Live.ts"
import { DirectoryLive } from "./directory/Live.ts"
import { Metering } from "./gateway/Metering.ts"
import { MeteringRepo } from "./gateway/MeteringRepo.ts"
import { Routes } from "./gateway/Routes.ts"
import { RoutesRepo } from "./gateway/RoutesRepo.ts"
import { ImageCleanup } from "./images/ImageCleanup.ts"
import { Images } from "./images/Images.ts"
import { ImportsLive } from "./imports/Live.ts"
import { Teardown } from "./machines/Teardown.ts"
import { AccessTokens } from "./oauth/AccessTokens.ts"
import { Authorization } from "./oauth/Authorization.ts"
import { AuthorizationRepo } from "./oauth/AuthorizationRepo.ts"
import { OAuthClients } from "./oauth/Clients.ts"
import { ClientsRepo } from "./oauth/ClientsRepo.ts"
import { Grants } from "./oauth/Grants.ts"
import { GrantsRepo } from "./oauth/GrantsRepo.ts"
import { Introspection } from "./oauth/Introspection.ts"
import { IntrospectionRepo } from "./oauth/IntrospectionRepo.ts"
import { PlatformTokens } from "./oauth/PlatformTokens.ts"
import { Revocation } from "./oauth/Revocation.ts"
import { RevocationsLive } from "./oauth/Revocations.ts"
import { SigningKeys } from "./oauth/SigningKeys.ts"
import { SigningKeysRepo } from "./oauth/SigningKeysRepo.ts"
import { TestTokens } from "./oauth/TestTokens.ts"
import { Tokens } from "./oauth/Tokens.ts"
import { TokensRepo } from "./oauth/TokensRepo.ts"
import { ApiKeys } from "./projects/ApiKeys.ts"
import { ApiKeysRepo } from "./projects/ApiKeysRepo.ts"
import { Projects } from "./projects/Projects.ts"
import { ProjectsRepo } from "./projects/ProjectsRepo.ts"
import { PublishingLive } from "./publishing/Live.ts"
import { ReadyImage } from "./ready-server/ReadyImage.ts"
import { Environment } from "./servers/Environment.ts"
import { EnvironmentRepo } from "./servers/EnvironmentRepo.ts"
import { Health } from "./servers/Health.ts"
import { ServerLogs } from "./servers/ServerLogs.ts"
import { ServerLogsRepo } from "./servers/ServerLogsRepo.ts"
import { Servers } from "./servers/Servers.ts"
import { ServersRepo } from "./servers/ServersRepo.ts"
import { Disk } from "./shared/Disk.ts"
import { GuardedHttp } from "./shared/GuardedHttp.ts"
import { Idempotency } from "./shared/Idempotency.ts"
import { IdempotencyRepo } from "./shared/IdempotencyRepo.ts"
import { RateLimit } from "./shared/RateLimit.ts"
import { Secrets } from "./shared/Secrets.ts"

const oauth = Layer.mergeAll(
  Authorization.Default,
  Grants.Default,
  Introspection.Default,
  PlatformTokens.Default,
  Revocation.Default,
  RevocationsLive,
  TestTokens.Default,
  Tokens.Default
).pipe(
  Layer.provideMerge(OAuthClients.Default),
  Layer.provideMerge(AccessTokens.Default),
  Layer.provideMerge(SigningKeys.Default),
  Layer.provide([
    AuthorizationRepo.Default,
    ClientsRepo.Default,
    GrantsRepo.Default,
    IntrospectionRepo.Default,
    SigningKeysRepo.Default,
    TokensRepo.Default
  ])
)

const gateway = Layer.merge(Routes.Default, Layer.provide(Metering.Default, MeteringRepo.Default)).pipe(
  Layer.provide(RoutesRepo.Default)
)

const repos = Layer.mergeAll(
  AccountsRepo.Default,
  AttemptsRepo.Default,
  ApiKeysRepo.Default,
  EnvironmentRepo.Default,
  IdempotencyRepo.Default,
  ProjectsRepo.Default,
  ServerLogsRepo.Default,
  ServersRepo.Default
)

const shared = Layer.mergeAll(
  Disk.Default,
  GuardedHttp.Default,
  Secrets.Default,
  RateLimit.Default,
  Passwords.Default,
  Quotas.Default,
  Layer.provideMerge(Teardown.Default, ImageCleanup.Default)
)

/** The one place where services are wired. Needs a database client, the settings, and what runs machines. */
export const ServicesLive = PublishingLive.pipe(
  Layer.provideMerge(DeploymentsLive),
  Layer.provideMerge(ReadyImage.Default),
  Layer.provideMerge(Layer.mergeAll(Images.Default, oauth, gateway, DirectoryLive)),
  Layer.provideMerge(Layer.mergeAll(Environment.Default, ServerLogs.Default)),
  Layer.provideMerge(ImportsLive),
  Layer.provideMerge(BusinessesLive),
  Layer.provideMerge(Servers.Default),
  Layer.provideMerge(ApiKeys.Default),
  Layer.provideMerge(Projects.Default),
  Layer.provideMerge(
    Layer.mergeAll(
      Layer.provide(Accounts.Default, Attempts.Default),
      Billing.Default,
      Health.Default,
      Idempotency.Default
    )
  ),
  Layer.provideMerge(shared),
  Layer.provide(repos)
)
