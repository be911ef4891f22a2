import { Layer } from "effect"
import { Directory } from "./Directory.ts"
import { DirectoryCounts } from "./DirectoryCounts.ts"
import { DirectoryMatches } from "./DirectoryMatches.ts"
import { DirectoryRepo } from "./DirectoryRepo.ts"
import { FacetsRepo } from "./FacetsRepo.ts"
import { PublicListingsRepo } from "./PublicListingsRepo.ts"
import { ServerCards } from "./ServerCards.ts"
import { ServerMetadataReads } from "./ServerMetadata.ts"
import { Subregistry } from "./Subregistry.ts"

/** The services of the public, unauthenticated reads. */
export const DirectoryLive = Layer.mergeAll(
  Directory.Default,
  DirectoryMatches.Default,
  ServerMetadataReads.Default,
  Layer.provideMerge(ServerCards.Default, Subregistry.Default)
).pipe(
  Layer.provide([
    Layer.provideMerge(Layer.merge(DirectoryRepo.Default, FacetsRepo.Default), DirectoryCounts.Default),
    PublicListingsRepo.Default
  ])
)
