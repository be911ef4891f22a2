import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { Projects } from "#src/projects/Projects.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ProjectsApi } from "./Api.ts"

export const ProjectsHandlers = HttpApiBuilder.group(
  apiOf(ProjectsApi),
  "projects",
  (handlers) =>
    Effect.gen(function*() {
      const projects = yield* Projects
      const keys = yield* ApiKeys

      return handlers
        .handle("list", ({ urlParams }) => projects.list(urlParams))
        .handle("create", ({ payload }) => Effect.map(projects.create(payload), data))
        .handle("get", ({ path }) => Effect.map(projects.get(path.projectId), data))
        .handle("update", ({ path, payload }) => Effect.map(projects.update(path.projectId, payload), data))
        .handle("remove", ({ path }) => projects.remove(path.projectId))
        .handle("listKeys", ({ path, urlParams }) => keys.list(path.projectId, urlParams))
        .handle("createKey", ({ path, payload }) => Effect.map(keys.create(path.projectId, payload), data))
        .handle("removeKey", ({ path }) => keys.remove(path.keyId))
    })
)
