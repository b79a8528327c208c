// Open MPI unloads its components before the leak sanitizer reports what they leave behind, and a library that is gone
// has no name for lsan.supp to match. Linked into every program of a sanitizer build.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) { return 0; }
