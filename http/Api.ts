import { version } from "#src/version.ts"
import { HttpApi, OpenApi } from "@effect/platform"
import { AccountsApi } from "./accounts/Api.ts"
import { BillingApi } from "./billing/Api.ts"
import { BusinessesApi } from "./businesses/Api.ts"
import { CatalogApi } from "./catalog/Api.ts"
import { ClientsApi } from "./clients/Api.ts"
import { DeploymentsApi } from "./deployments/Api.ts"
import { DirectoryApi } from "./directory/Api.ts"
import { EnvironmentApi } from "./environment/Api.ts"
import { GrantsApi } from "./grants/Api.ts"
import { HealthApi } from "./health/Api.ts"
import { ImportsApi } from "./imports/Api.ts"
import { truthful } from "./openapi.ts"
import { ProjectsApi } from "./projects/Api.ts"
import { PublishingApi } from "./publishing/Api.ts"
import { ReadyConfigApi } from "./ready-config/Api.ts"
import { RegistryApi } from "./registry/Api.ts"
import { ServersApi } from "./servers/Api.ts"
import { VerificationApi } from "./verification/Api.ts"

export class Api extends HttpApi.make("berth")
  .add(HealthApi)
  .add(AccountsApi)
  .add(ProjectsApi)
  .add(ServersApi)
  .add(EnvironmentApi)
  .add(DeploymentsApi)
  .add(ClientsApi)
  .add(GrantsApi)
  .add(BillingApi)
  .add(BusinessesApi)
  .add(ImportsApi)
  .add(VerificationApi)
  .add(PublishingApi)
  .add(CatalogApi)
  .add(ReadyConfigApi)
  .add(DirectoryApi)
  .add(RegistryApi)
  .annotate(OpenApi.Title, "Berth")
  .annotate(OpenApi.Version, version)
  .annotate(OpenApi.Transform, truthful)
{}
