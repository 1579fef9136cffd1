//! The model file: what a model says in JSON, and its numbers as tensors that are mapped, not read.
//!
//! The container is [safetensors](https://github.com/huggingface/safetensors), so other tools can look inside:
//!
//! ```text
//! 8 bytes      length of the header, little-endian
//! header       {"__metadata__":{"format":"lineal","version":"1","crc32":"xxxxxxxx","sections":"xxxxxxxx…","model":"<JSON in a string>"},
//!               "<tensor>":{"dtype":"F32|F64|U32|U8","shape":[…],"data_offsets":[begin,end]}, …}
//!              and spaces up to a multiple of 64
//! tensors      little-endian, each at a multiple of 64 from the start of the file
//! ```
//!
//! Four things are ours. The metadata stands first and in this order, so that the first bytes tell a model of Lineal
//! and its version. `crc32` covers the whole file with its own eight digits taken as zeros. `sections` has eight more digits for each tensor, the checksum of its bytes and of the filling before it; the
//! checksum of the file follows from that of the header and these, so that the header can be checked without reading the tensors, and each tensor when it is used. Files
//! without it are read as well, and programs that do not know it read files with it. And since safetensors
//! allows no hole between tensors, the filling before an aligned tensor is itself a `U8` tensor, `__pad0`, `__pad1`, ….
//! The header is written by hand because the same model must give the same bytes, which the safetensors crate does
//! not promise (its metadata is a hash map).
//!
//! [`ModelFile`] reads: it allocates nothing on the word of the file alone (the worst headers of 100 MB that
//! were tried took 0.8 GB), checks the header when opened and each tensor when it is first asked for, and then lends slices of the map. [`save`] and [`encode`] write;
//! [`write_atomically`] is the one place where an output file comes into being, of models and of anything else.
//!
//! ```
//! use lineal_model::file::{ModelFile, TensorData, encode};
//!
//! let says = serde_json::json!({"task": "classify", "classes": ["ham", "spam"]});
//! let w = [0.5, -1.0, 2.0];
//! let bytes = encode(&says, &[("weights", vec![3, 1], TensorData::F64(&w))]).unwrap();
//!
//! let file = ModelFile::from_bytes(&bytes).unwrap();
//! assert_eq!(file.model()["classes"][1], "spam");
//! assert_eq!(file.f64("weights").unwrap(), Some(&w[..]));
//! ```

mod atomic;
mod bytes;
mod disk;
mod error;
mod layout;
mod read;
mod temporary;
mod write;

pub use atomic::{write_atomically, write_atomically_on};
pub use disk::{Disk, SystemDisk};
pub use error::Error;
pub use read::ModelFile;
pub use temporary::remove_temporaries;
pub use write::{TensorData, encode, save, write_to};
