import { apiName } from "#http/answers/group.ts"
import { AccountsApi } from "#http/api/accounts/Api.ts"
import { BillingApi } from "#http/api/billing/Api.ts"
import { BusinessesApi } from "#http/api/businesses/Api.ts"
import { CatalogApi } from "#http/api/catalog/Api.ts"
import { ClientsApi } from "#http/api/clients/Api.ts"
import { DeploymentsApi } from "#http/api/deployments/Api.ts"
import { DirectoryApi } from "#http/api/directory/Api.ts"
import { EnvironmentApi } from "#http/api/environment/Api.ts"
import { FeedsApi } from "#http/api/feeds/Api.ts"
import { GrantsApi } from "#http/api/grants/Api.ts"
import { HealthApi } from "#http/api/health/Api.ts"
import { HubAnalyticsApi } from "#http/api/hub-analytics/Api.ts"
import { HubCompositesApi } from "#http/api/hub-composites/Api.ts"
import { HubDocumentsApi } from "#http/api/hub-documents/Api.ts"
import { HubKeysApi } from "#http/api/hub-keys/Api.ts"
import { HubListingsApi } from "#http/api/hub-listings/Api.ts"
import { ImagesApi } from "#http/api/images/Api.ts"
import { ImportsApi } from "#http/api/imports/Api.ts"
import { PlansApi } from "#http/api/plans/Api.ts"
import { ProjectsApi } from "#http/api/projects/Api.ts"
import { PublishingApi } from "#http/api/publishing/Api.ts"
import { ReadyConfigApi } from "#http/api/ready-config/Api.ts"
import { RegistriesApi } from "#http/api/registries/Api.ts"
import { RegistryApi } from "#http/api/registry/Api.ts"
import { ServersApi } from "#http/api/servers/Api.ts"
import { VerificationApi } from "#http/api/verification/Api.ts"
import { version } from "#src/config/version.ts"
import { HttpApi, OpenApi } from "@effect/platform"
import { declaredIn } from "./declared.ts"
import { introduction } from "./introduction.ts"
import { describeActualResponses } from "./openapi.ts"

class Declared extends HttpApi.make(apiName)
  .add(HealthApi)
  .add(AccountsApi)
  .add(ProjectsApi)
  .add(ServersApi)
  .add(EnvironmentApi)
  .add(DeploymentsApi)
  .add(RegistriesApi)
  .add(ImagesApi)
  .add(ClientsApi)
  .add(GrantsApi)
  .add(PlansApi)
  .add(BillingApi)
  .add(BusinessesApi)
  .add(ImportsApi)
  .add(VerificationApi)
  .add(PublishingApi)
  .add(CatalogApi)
  .add(ReadyConfigApi)
  .add(DirectoryApi)
  .add(RegistryApi)
  .add(FeedsApi)
  .add(HubKeysApi)
  .add(HubListingsApi)
  .add(HubDocumentsApi)
  .add(HubAnalyticsApi)
  .add(HubCompositesApi)
{}

export class Api extends Declared
  .annotate(OpenApi.Title, "Berth")
  .annotate(OpenApi.Version, version)
  .annotate(OpenApi.Description, introduction)
  .annotate(OpenApi.Transform, describeActualResponses(declaredIn(Declared)))
{}
