import { AuthenticationLive } from "#http/callers/Authentication.ts"
import { NoBodyLive } from "#http/callers/NoBody.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Layer } from "effect"
import { AccountsHandlers } from "./accounts/Handlers.ts"
import { Api } from "./Api.ts"
import { BillingHandlers } from "./billing/Handlers.ts"
import { WebhookRoute } from "./billing/webhook.ts"
import { BusinessesHandlers } from "./businesses/Handlers.ts"
import { CatalogHandlers } from "./catalog/Handlers.ts"
import { ClientsHandlers } from "./clients/Handlers.ts"
import { DeploymentsHandlers } from "./deployments/Handlers.ts"
import { DirectoryHandlers } from "./directory/Handlers.ts"
import { ServerCardRoutes } from "./discovery/cards.ts"
import { EnvironmentHandlers } from "./environment/Handlers.ts"
import { FeedsHandlers } from "./feeds/Handlers.ts"
import { GrantsHandlers } from "./grants/Handlers.ts"
import { HealthHandlers } from "./health/Handlers.ts"
import { HubAnalyticsHandlers } from "./hub-analytics/Handlers.ts"
import { NoAgentVisibilityLive } from "./hub-composites/agent-visibility.ts"
import { HubCompositesHandlers } from "./hub-composites/Handlers.ts"
import { HubDocumentsHandlers } from "./hub-documents/Handlers.ts"
import { HubKeysHandlers } from "./hub-keys/Handlers.ts"
import { HubListingsHandlers } from "./hub-listings/Handlers.ts"
import { ImagesHandlers } from "./images/Handlers.ts"
import { ImportsHandlers } from "./imports/Handlers.ts"
import { TemplatesRoutes } from "./imports/templates.ts"
import { OAuthRoutes } from "./oauth/endpoints.ts"
import { JwksRoute } from "./oauth/jwks.ts"
import { MetadataRoutes } from "./oauth/metadata.ts"
import { RegisterRoute } from "./oauth/register.ts"
import { PlansHandlers } from "./plans/Handlers.ts"
import { ProjectsHandlers } from "./projects/Handlers.ts"
import { PublishingHandlers } from "./publishing/Handlers.ts"
import { NamelessConfigRoute, ReadyConfigHandlers } from "./ready-config/Handlers.ts"
import { SelfConfigRoute } from "./ready-config/self.ts"
import { RegistriesHandlers } from "./registries/Handlers.ts"
import { RegistryHandlers } from "./registry/Handlers.ts"
import { ServersHandlers } from "./servers/Handlers.ts"
import { SkillsRoutes } from "./skills/files.ts"
import { VerificationHandlers } from "./verification/Handlers.ts"

/** The documented API. */
export const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide([
    AccountsHandlers,
    BillingHandlers,
    BusinessesHandlers,
    CatalogHandlers,
    ClientsHandlers,
    DeploymentsHandlers,
    DirectoryHandlers,
    EnvironmentHandlers,
    FeedsHandlers,
    GrantsHandlers,
    HealthHandlers,
    ImagesHandlers,
    ImportsHandlers,
    PlansHandlers,
    ProjectsHandlers,
    PublishingHandlers,
    ReadyConfigHandlers,
    RegistriesHandlers,
    RegistryHandlers,
    HubDocumentsHandlers,
    HubKeysHandlers,
    HubListingsHandlers,
    HubAnalyticsHandlers,
    HubCompositesHandlers,
    ServersHandlers,
    VerificationHandlers
  ]),
  Layer.provide([AuthenticationLive, NoAgentVisibilityLive, NoBodyLive])
)

/** Routes of the same domains that HttpApi can't express. */
export const ApiRawRoutes = Layer.mergeAll(
  JwksRoute,
  MetadataRoutes,
  NamelessConfigRoute,
  OAuthRoutes,
  RegisterRoute,
  SelfConfigRoute,
  ServerCardRoutes,
  SkillsRoutes,
  TemplatesRoutes,
  WebhookRoute
)
