//! <fxt/trace.h> for Rust, without a crate. The agent's table is found at run time; without
//! fxtrun, nothing happens. Names end in \0.
//!
//!     mod trace;
//!     static SERVE: trace::Site = trace::Site::new("server\0", "serve\0");
//!     let _serves = SERVE.duration(); // until the end of the block
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, Ordering};

/// struct fxt_trace_site, and behind it the memory of its texts.
#[repr(C)]
pub struct Site {
    on: AtomicPtr<AtomicU32>,
    category: *const u8,
    name: *const u8,
    texts: AtomicPtr<AtomicU16>,
    own: AtomicU32,
    texts_of: AtomicU32,
    memory: [AtomicU16; 4],
}
unsafe impl Sync for Site {}

/// The beginning of struct fxt_trace_agent.
#[repr(C)]
struct Agent {
    version: AtomicU32,
    reserved: u32,
    category: extern "C" fn(*const u8) -> *mut AtomicU32,
    declare: extern "C" fn(*const u8, *const u8),
    event: extern "C" fn(*const Site, u32, u64, *const c_void, usize),
}
extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *const Agent;
}

/// Ends a duration.
pub struct Duration<'a>(&'a Site);
impl Drop for Duration<'_> {
    fn drop(&mut self) {
        self.0.event(3, 0);
    }
}

const TEXT: AtomicU16 = AtomicU16::new(0);

impl Site {
    pub const fn new(category: &'static str, name: &'static str) -> Site {
        Site { on: AtomicPtr::new(ptr::null_mut()), category: category.as_ptr(), name: name.as_ptr(),
               texts: AtomicPtr::new(ptr::null_mut()), own: AtomicU32::new(0), texts_of: AtomicU32::new(0), memory: [TEXT; 4] }
    }
    pub fn duration(&self) -> Duration<'_> {
        self.event(2, 0);
        Duration(self)
    }
    /// kind: of the event in the trace format, 0 an instant, 5 and 7 async begin and end, 8 to 10 flows
    pub fn event(&self, kind: u32, id: u64) {
        let agent = unsafe { dlsym(ptr::null_mut(), b"fxt_trace_agent\0".as_ptr().cast()).as_ref() };
        let agent = match agent {
            Some(agent) if agent.version.load(Ordering::Acquire) != 0 => agent,
            _ => return,
        };
        let mut on = self.on.load(Ordering::Acquire);
        if on.is_null() {
            self.texts.store(self.memory.as_ptr() as *mut AtomicU16, Ordering::Relaxed);
            on = (agent.category)(self.category);
            self.on.store(on, Ordering::Release);
        }
        if unsafe { (*on).load(Ordering::Relaxed) } != 0 { (agent.event)(self, kind, id, ptr::null(), 0); }
    }
}
