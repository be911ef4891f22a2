import { Layer } from "effect"
import { CapabilityDocs } from "./CapabilityDocs.ts"
import { CapabilityDocsRepo } from "./CapabilityDocsRepo.ts"
import { HubKeys } from "./HubKeys.ts"
import { HubKeysRepo } from "./HubKeysRepo.ts"
import { ListingAnalyticsReads } from "./ListingAnalyticsReads.ts"
import { ListingAnalyticsRepo } from "./ListingAnalyticsRepo.ts"
import { ListingSkills } from "./ListingSkills.ts"
import { ListingSkillsRepo } from "./ListingSkillsRepo.ts"
import { SkillIndex } from "./SkillIndex.ts"
import { SkillsRegistry } from "./SkillsRegistry.ts"
import { Transactions } from "./Transactions.ts"

/** For the gateway. */
export const HubKeysLive = Layer.provide(HubKeys.Default, HubKeysRepo.Default)

export const HubLive = Layer.mergeAll(
  Layer.provide(Layer.merge(CapabilityDocs.Default, SkillsRegistry.Default), CapabilityDocsRepo.Default),
  HubKeysLive,
  Layer.provideMerge(SkillIndex.Default, Layer.provide(ListingSkills.Default, ListingSkillsRepo.Default)),
  Layer.provide(Layer.mergeAll(ListingAnalyticsReads.Default, Transactions.Default), ListingAnalyticsRepo.Default)
)
