import { Layer } from "effect"
import { BrowseComposites } from "./BrowseComposites.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { Composites } from "./Composites.ts"
import { CompositeSkills } from "./CompositeSkills.ts"
import { CompositesRepo } from "./CompositesRepo.ts"
import { MembersRepo } from "./MembersRepo.ts"

export const CompositesLive = Layer.provideMerge(
  CompositeSkills.Default,
  Layer.provide(
    Layer.merge(Composites.Default, BrowseComposites.Default),
    CompositesRepo.Default
  )
).pipe(Layer.provideMerge(Layer.provide(CompositeMembers.Default, MembersRepo.Default)))
