import { ImageRegistries } from "#src/registries/ImageRegistries.ts"
import { ImageRegistry, ImageRegistryInput, updateFields } from "#src/registries/ImageRegistry.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const registryId = { registryId: Schema.String }
const ours = { toolset: "deploy", needs: "session" } as const

export const registryTools = Effect.map(ImageRegistries, (registries) => [
  tool({
    ...ours,
    name: "list_registries",
    title: "List private registries",
    description:
      "Lists your credentials for private image registries, newest first, without passwords; add_registry adds one. " +
      "Needs a session.",
    effect: "read",
    params: Input(PageArguments),
    success: PageOf(ImageRegistry),
    run: registries.list
  }),
  tool({
    ...ours,
    name: "add_registry",
    title: "Add a private registry",
    description:
      "Adds the user and password of a private image registry (ghcr.io, docker.io). Deployments of its images use " +
      "them from then on: deploy next. name: for servers with that registryCredential. The password is never returned. Needs a session.",
    effect: "create",
    params: ImageRegistryInput,
    success: ImageRegistry,
    run: registries.create
  }),
  tool({
    ...ours,
    name: "update_registry",
    title: "Change a registry's password",
    description: "Changes the user or password of a private image registry, from the next deploy on. Needs a session.",
    effect: "update",
    params: Input({ ...registryId, ...updateFields }),
    success: ImageRegistry,
    run: ({ registryId, ...update }) => registries.update(registryId, update)
  }),
  tool({
    ...ours,
    name: "delete_registry",
    title: "Delete a private registry",
    description:
      "Deletes your credentials for a private image registry: what runs goes on, but its next deploy can't pull from there. " +
      "Not those that a server names. Needs a session.",
    effect: "delete",
    params: Input(registryId),
    run: (input) => registries.remove(input.registryId)
  })
])
