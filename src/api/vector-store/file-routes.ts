/** `/vector_store/{id}/files`: files go to storage while they are sent, and are read and embedded afterwards. */
import assert from 'node:assert';
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { toFilename } from '../../platform/vectors/index.ts';
import { at, findCollection } from './declaration.ts';
import { toList, toVectorStoreFile } from './render.ts';
import { FileFields, FileListQuery, listOf, removalOf, VectorStoreFile } from './schema.ts';
import { invalid, toListing, toStorable, unknown } from './translate.ts';

/** "413 (upload over 100 MB)" */
const maxFileBytes = 100_000_000;
/** More than the largest attributes, each of their characters written as `\u1234`. */
const maxFieldBytes = 64 * 1024;
/** The fields, and the lines between the parts of the form. */
const restBytes = 128 * 1024;

export const addFile = defineRoute({
  method: 'POST',
  ...at('/{id}/files'),
  summary: 'Add a file to a vector store collection; its `status` tells when it was read and embedded',
  multipart: {
    fields: FileFields,
    maxFieldBytes,
    files: {
      file: {
        maxCount: 1,
        maxBytes: maxFileBytes,
        required: true,
        storeAt: ({ vectors }) => vectors.reserveUpload(),
      },
    },
  },
  maxBodyBytes: maxFileBytes + restBytes,
  success: 201,
  response: VectorStoreFile,
  async before({ params, caller }, platform) {
    await findCollection(platform, caller.subscriptionId, params.id);
  },
  async handle({ params: { id }, body, stored, caller }, { vectors, objects }) {
    const [upload] = stored;
    assert(upload !== undefined, 'the route requires a file');
    const { objectKey, bytes } = upload;
    try {
      if (bytes === 0) throw invalid('file', 'is empty');
      const file = await vectors.addFile(caller.subscriptionId, id, {
        filename: toFilename(upload.filename),
        attributes: toStorable(body).attributes ?? {},
        objectKey,
        bytes,
        keyId: caller.keyId,
      });
      // It was there before the upload began.
      if (file === undefined) throw unknown('vector store', id, 'id');
      return toVectorStoreFile(file);
    } catch (error) {
      // After another failure nobody knows whether it was added: the reservation of its key removes it, or the file has it.
      if (error instanceof GatewayError && error.kind === 'invalid_request') await objects.remove(objectKey);
      throw error;
    }
  },
});

export const listFiles = defineRoute({
  method: 'GET',
  ...at('/{id}/files'),
  summary: 'List the files of a vector store collection',
  query: FileListQuery,
  response: listOf(VectorStoreFile),
  async handle({ params: { id }, query, caller }, { vectors }) {
    const page = await vectors.listFiles(caller.subscriptionId, id, {
      ...toListing(query),
      status: query.filter,
    });
    if (page === undefined) throw unknown('vector store', id, 'id');
    return toList(page, toVectorStoreFile);
  },
});

export const getFile = defineRoute({
  method: 'GET',
  ...at('/{id}/files/{fileid}'),
  summary: 'Read the record of a file',
  response: VectorStoreFile,
  async handle({ params: { id, fileid }, caller }, platform) {
    const { subscriptionId } = caller;
    const file = await platform.vectors.findFile(subscriptionId, id, fileid);
    if (file !== undefined) return toVectorStoreFile(file);
    await findCollection(platform, subscriptionId, id);
    throw unknown('file', fileid, 'fileid');
  },
});

export const removeFile = defineRoute({
  method: 'DELETE',
  ...at('/{id}/files/{fileid}'),
  summary: 'Delete a file with its items',
  response: removalOf('vector_store.file.deleted'),
  async handle({ params: { id, fileid }, caller }, platform) {
    const { subscriptionId } = caller;
    if (await platform.vectors.removeFile(subscriptionId, id, fileid))
      return { id: fileid, object: 'vector_store.file.deleted', deleted: true };
    await findCollection(platform, subscriptionId, id);
    throw unknown('file', fileid, 'fileid');
  },
});
