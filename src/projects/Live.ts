import { Layer } from "effect"
import { ApiKeys } from "./ApiKeys.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"
import { Projects } from "./Projects.ts"
import { ProjectsRepo } from "./ProjectsRepo.ts"

export const ProjectsLive = ApiKeys.Default.pipe(
  Layer.provideMerge(Projects.Default),
  Layer.provide([ApiKeysRepo.Default, ProjectsRepo.Default])
)
