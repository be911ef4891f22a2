import { Layer } from "effect"
import { BroadLabels } from "./BroadLabels.ts"
import { BrowseComposites } from "./BrowseComposites.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { Composites } from "./Composites.ts"
import { CompositeSkills } from "./CompositeSkills.ts"
import { CompositesRepo } from "./CompositesRepo.ts"
import { DynamicComposites } from "./DynamicComposites.ts"
import { GroupsRepo } from "./GroupsRepo.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { OfferingsRepo } from "./OfferingsRepo.ts"
import { ReachedComposites } from "./ReachedComposites.ts"
import { ResourceTokens } from "./ResourceTokens.ts"
import { SystemComposites } from "./SystemComposites.ts"

/** Needs the database alone. */
export const SystemCompositesLive = Layer.provide(SystemComposites.Default, GroupsRepo.Default)

const MembersLive = Layer.mergeAll(
  DynamicComposites.Default,
  Layer.provide(ReachedComposites.Default, CompositesRepo.Default)
).pipe(
  Layer.provideMerge(CompositeMembers.Default),
  Layer.provide([GroupsRepo.Default, MembersRepo.Default]),
  Layer.provideMerge(BroadLabels.Default)
)

export const CompositesLive = Layer.provideMerge(
  Layer.merge(CompositeSkills.Default, ResourceTokens.Default),
  Layer.provide(Layer.merge(Composites.Default, BrowseComposites.Default), CompositesRepo.Default)
).pipe(Layer.provideMerge(OfferingsRepo.Default), Layer.provideMerge(MembersLive), Layer.merge(SystemCompositesLive))
