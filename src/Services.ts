import { Layer } from "effect"
import { AccountsLive } from "./accounts/Live.ts"
import { EventsLive } from "./analytics/Live.ts"
import { BillingLive } from "./billing/Live.ts"
import { BlobsLive } from "./blobs/Live.ts"
import { BusinessesLive } from "./businesses/Live.ts"
import { CompositesLive } from "./composites/Live.ts"
import { DeploymentsLive } from "./deployments/Live.ts"
import { DirectoryLive, ServerCardsLive } from "./directory/Live.ts"
import { EgressLive } from "./egress/Live.ts"
import { HubKeysLive, HubLive } from "./hub/Live.ts"
import { ImagesLive } from "./images/Live.ts"
import { ImportsLive } from "./imports/Live.ts"
import { JobsLive } from "./jobs/Live.ts"
import { LimitsLive } from "./limits/Live.ts"
import { ListingsLive } from "./listings/Live.ts"
import { MachineStatesLive } from "./machines/Machines.ts"
import { OAuthLive, TokenChecksLive } from "./oauth/Live.ts"
import { PackagesLive } from "./packages/Live.ts"
import { ProjectsLive } from "./projects/Live.ts"
import { PublishingLive } from "./publishing/Live.ts"
import { ReadyImage } from "./ready-image/ReadyImage.ts"
import { RegistriesLive } from "./registries/Live.ts"
import { RoutingLive } from "./routing/Live.ts"
import { ScanningLive } from "./scanning/Live.ts"
import { BrokenAnswersLive, ServersLive } from "./servers/Live.ts"
import { SharedLive } from "./shared/Live.ts"
import { SyndicationLive } from "./syndication/Live.ts"
import { UploadsLive } from "./uploads/Live.ts"
import { RequestMeteringLive, UsageLive } from "./usage/Live.ts"

/** What the rooms of the domain stand on. */
const FoundationLive = UsageLive.pipe(
  Layer.provideMerge(ImagesLive),
  Layer.provideMerge(BlobsLive),
  Layer.provideMerge(AccountsLive),
  Layer.provideMerge(JobsLive),
  Layer.provideMerge(SharedLive)
)

/** What the gateway asks, without the rest: for processes that do nothing else. */
export const GatewayServicesLive = Layer.mergeAll(
  BrokenAnswersLive,
  HubKeysLive,
  ServerCardsLive,
  TokenChecksLive,
  RoutingLive
).pipe(
  Layer.provideMerge(RequestMeteringLive),
  Layer.provideMerge(Layer.merge(JobsLive, SharedLive))
)

/**
 * The only place where services are wired: one folder per line, each above those that it depends on. Needs a database
 * client, the settings, and a driver of machines.
 */
export const ServicesLive = PublishingLive.pipe(
  Layer.provideMerge(CompositesLive),
  Layer.provideMerge(LimitsLive),
  Layer.provideMerge(DeploymentsLive),
  Layer.provideMerge(ScanningLive),
  Layer.provideMerge(EgressLive),
  Layer.provideMerge(ImportsLive),
  Layer.provideMerge(SyndicationLive),
  Layer.provideMerge(HubLive),
  Layer.provideMerge(DirectoryLive),
  Layer.provideMerge(OAuthLive),
  Layer.provideMerge(BillingLive),
  Layer.provideMerge(BusinessesLive),
  Layer.provideMerge(Layer.provide(RoutingLive, MachineStatesLive)),
  Layer.provideMerge(ServersLive),
  Layer.provideMerge(Layer.merge(EventsLive, UploadsLive)),
  Layer.provideMerge(ProjectsLive),
  Layer.provideMerge(Layer.merge(RegistriesLive, ListingsLive)),
  Layer.provideMerge(PackagesLive),
  Layer.provideMerge(ReadyImage.Default),
  Layer.provideMerge(FoundationLive)
)
