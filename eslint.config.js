import eslint from '@eslint/js';
import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

const only = (name, where) => ({
  name,
  message: `Only ${where} imports ${name}: everything else goes through what it exports.`,
});
const single = {
  'isomorphic-git': 'packages/core/src/store/git-engine.ts',
  yaml: 'packages/core/src/domain/codec.ts',
  'proper-lockfile': 'packages/sync/src/election.ts',
};
const sdk = { group: ['@modelcontextprotocol/*'], message: 'MCP SDK imports stay in packages/mcp.' };

const restricted = (except, patterns = []) => ({
  'no-restricted-imports': [
    'error',
    {
      paths: Object.entries(single)
        .filter(([name]) => name !== except)
        .map(([name, where]) => only(name, where)),
      patterns,
    },
  ],
});

export default tseslint.config(
  { ignores: ['packages/cli/bundle/**', '**/dist/**', '**/node_modules/**', '.nx/**'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        // vitest.config.ts belongs to no package: it is linted with the default options.
        projectService: { allowDefaultProject: ['vitest.config.ts'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { '@nx': nx },
    rules: {
      ...restricted(undefined, [sdk]),
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: true,
          allow: [],
          // Loaded lazily to start fast, file by file: what a package imports statically elsewhere says nothing.
          checkDynamicDependenciesExceptions: ['@git-mesh/*', 'git-mesh'],
          depConstraints: [
            { sourceTag: 'scope:core', onlyDependOnLibsWithTags: ['scope:core'] },
            { sourceTag: 'scope:sync', onlyDependOnLibsWithTags: ['scope:core', 'scope:sync'] },
            { sourceTag: 'scope:mcp', onlyDependOnLibsWithTags: ['scope:core', 'scope:sync', 'scope:mcp'] },
            {
              sourceTag: 'scope:cli',
              onlyDependOnLibsWithTags: ['scope:core', 'scope:sync', 'scope:mcp', 'scope:cli'],
            },
            { sourceTag: 'scope:test', onlyDependOnLibsWithTags: ['*'] },
          ],
        },
      ],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/prefer-nullish-coalescing': 'error',
      'no-console': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // The domain decides; it reads no clock, disk, process or randomness.
    files: ['packages/core/src/domain/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      ...restricted(undefined, [
        sdk,
        {
          group: ['node:*', '../store/*', '../store/**', '../mesh/*'],
          message: 'domain/ is pure: no I/O and nothing of the store.',
        },
      ]),
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'fetch', 'performance', 'crypto'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The clock is passed in.' },
        { object: 'Math', property: 'random', message: 'Randomness is passed in.' },
      ],
    },
  },
  {
    files: ['packages/core/src/domain/codec.ts'],
    rules: restricted('yaml', [sdk, { group: ['node:*', '../store/*'] }]),
  },
  { files: ['packages/core/src/store/git-engine.ts'], rules: restricted('isomorphic-git', [sdk]) },
  { files: ['packages/sync/src/election.ts'], rules: restricted('proper-lockfile', [sdk]) },
  { files: ['packages/mcp/**/*.ts'], rules: restricted(undefined) },
  {
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: {
      'no-restricted-imports': 'off',
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        console: 'readonly',
        setTimeout: 'readonly',
        performance: 'readonly',
      },
    },
  },
  {
    // Runs in a browser.
    files: ['packages/cli/assets/*.js'],
    languageOptions: {
      globals: {
        document: 'readonly',
        window: 'readonly',
        getComputedStyle: 'readonly',
        FormData: 'readonly',
        Option: 'readonly',
        EventSource: 'readonly',
        AbortController: 'readonly',
        fetch: 'readonly',
        CustomEvent: 'readonly',
        setInterval: 'readonly',
        setTimeout: 'readonly',
        process: 'off',
        Buffer: 'off',
      },
    },
  },
);
