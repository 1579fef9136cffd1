//! An image as the features see it: 8-bit RGB, whose size has been checked.

/// An image in RGB, 8 bits per colour, row by row from the top.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    width: usize,
    height: usize,
    rgb: &'a [u8],
}

/// Why bytes are not an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// Without a pixel.
    #[error("an image of {width}×{height} pixels has none; both sides must be at least 1")]
    Empty {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// More pixels than nodes can have numbers.
    #[error("an image of {width}×{height} pixels has more than 2³¹; make it smaller")]
    Large {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Too few or too many bytes.
    #[error(
        "an image of {width}×{height} pixels has {expected} bytes of RGB, and {found} were given"
    )]
    Length {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// 3 for each pixel.
        expected: usize,
        /// As many as there are.
        found: usize,
    },
}

impl<'a> Picture<'a> {
    /// Checks that the bytes are those of an image of this size.
    pub fn new(width: usize, height: usize, rgb: &'a [u8]) -> Result<Self, PictureError> {
        if width == 0 || height == 0 {
            return Err(PictureError::Empty { width, height });
        }
        let n_pixels = width.checked_mul(height).filter(|&n| n <= 1 << 31);
        let expected = n_pixels.ok_or(PictureError::Large { width, height })? * 3;
        if rgb.len() != expected {
            return Err(PictureError::Length { width, height, expected, found: rgb.len() });
        }
        Ok(Self { width, height, rgb })
    }

    /// The smallest image.
    pub(super) const fn of_one_pixel(rgb: &'a [u8; 3]) -> Self {
        Self { width: 1, height: 1, rgb }
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Pixels.
    pub fn n_pixels(&self) -> usize {
        self.width * self.height
    }

    /// The colours of the pixels, row by row.
    pub fn colours(&self) -> impl ExactSizeIterator<Item = [u8; 3]> + '_ {
        self.rgb.as_chunks::<3>().0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(
            Picture::new(0, 5, &[]).unwrap_err(),
            PictureError::Empty { width: 0, height: 5 }
        );
        let error = Picture::new(2, 2, &[0; 11]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an image of 2×2 pixels has 12 bytes of RGB, and 11 were given"
        );
        assert!(matches!(Picture::new(usize::MAX, 2, &[]), Err(PictureError::Large { .. })));
        assert_eq!(
            Picture::new(2, 1, &[1, 2, 3, 4, 5, 6]).unwrap().colours().nth(1),
            Some([4, 5, 6])
        );
    }
}
